"""One call from its request to its result: signed, sent, its response judged, and asked again where that is safe.

`signed_call` sends, `result` says what came back, `reads` asks again as the exchange allows, `writes` never
does. It stands on limits and transport; the client and the endpoints look in.
"""
