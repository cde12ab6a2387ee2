"""One call from request to result: signed, sent and judged, and for reads repeated if that is safe.

`signed_call` sends, `result` judges the response, `reads` repeats a call as the exchange allows, `writes` never does.
The package uses limits and transport; the client and the endpoints use it.
"""
