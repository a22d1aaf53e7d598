"""Learners made of learners: what a row counts, how often it is shown, to which members, in which space.

A part multiplies what it is given and never overwrites it; puts the score of the whole into the plan; and keeps its
own arrays beside the states of its bases, into which it does not look.
"""
