"""Who may write: one leader of several generators, by a lease whose epoch rises with every new holder."""
