"""The compiled loop of frozen programs: tables of small steps, carried out without Python (the extra ``fast``)."""
