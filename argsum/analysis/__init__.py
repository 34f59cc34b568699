"""Key point analysis of comments: what people say, how many, who, and when."""
