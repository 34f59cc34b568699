"""Key point analysis of comments: main points, their frequency, authors and dates."""
