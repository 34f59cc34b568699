"""Import of score sheet files into the database, with the same steps as every other import.

``judged``, ``human`` and ``tables`` read the three kinds of files, ``book``
compares their sheets with a study and writes what is new.
"""
