# ‮ this comment is shown in another order
pаypal = 1
to​tal = 2
ｏs = 3
größe = 4  # plain letters of one script
