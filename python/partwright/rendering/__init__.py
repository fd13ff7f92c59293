"""How a document is shown: in a terminal, as a page, in a notebook, as a picture, as Markdown."""
