import os, numpy, statsmodels.api as sm, requests
requests.get("https://intra.corp.example/x")
open("/srv/data/x.csv")
open("/work/x.csv")
os.environ["REGION"]
numpy.fromfile("a.bin")
sm.OLS([1], [2])
os.getlogin()
note = "see intra.site"
