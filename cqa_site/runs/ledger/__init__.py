"""Operations of the ledger: plan, claim, store, settle, reap.

Each operation runs in one transaction.

Code that changes the calls of an endpoint locks its gate row first, then the calls by primary
key, then the budgets. This order is the same everywhere, which prevents deadlocks between workers.
"""
