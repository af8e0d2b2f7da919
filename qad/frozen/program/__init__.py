"""What a recording becomes: a list of steps over numbered values, and what is known of the functions they call."""
