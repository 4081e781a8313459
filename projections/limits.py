"""How long a brief may be."""

#: A token is never less than this many characters, in what we promise.
CHARACTERS_PER_TOKEN = 3.5
#: What a brief costs where nobody says otherwise, in tokens.
BUDGET = 2000
#: Below this not even the counts have room, whatever the project is called.
LEAST = 400
#: A host cuts what is longer than 10,000 characters; a whole answer stays well below that.
HOST_LIMIT = 9_000
