"""Who is not published: the suppressed as a whole are as safe as a class, or none."""
