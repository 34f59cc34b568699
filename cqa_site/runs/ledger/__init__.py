"""Operations of the ledger: plan, claim, store, settle, reap.

Each runs in one transaction.

Code that changes the calls of an endpoint locks its gate row first, then calls by primary key,
then budgets; that order is the same everywhere, so no two workers wait for each other.
"""
