"""The REST interface: thin views over the same actions and reports the pages use."""
