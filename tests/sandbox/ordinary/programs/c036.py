from sklearn.datasets import load_sample_images
import sklearn
try:
    d = load_sample_images()
    print(len(d.images), d.images[0].shape)
except ImportError as e:
    print(e)
print(hasattr(sklearn, "show_versions"))
