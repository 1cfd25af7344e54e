import sys, time, numpy as np, tempfile, json
from pathlib import Path
sys.path.insert(0,'/tmp/w/w5')
from hierdata.engines.specialize import run as R
