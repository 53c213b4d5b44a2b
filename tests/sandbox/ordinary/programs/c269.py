from sklearn.datasets import get_data_home, load_diabetes, load_files, dump_svmlight_file
import os
print(os.path.isdir(get_data_home())); os.makedirs("txt/pos"); open("txt/pos/1.txt", "w").write("good"); print(load_files("txt").target_names); d = load_diabetes(as_frame=True); dump_svmlight_file(d.data, d.target, "d.svm"); print(d.frame.shape)
