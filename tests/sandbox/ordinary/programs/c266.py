from sklearn.metrics import classification_report, confusion_matrix, roc_auc_score, ConfusionMatrixDisplay
y, p = [0, 1, 1, 0, 1], [0, 1, 0, 0, 1]; print(classification_report(y, p)); print(confusion_matrix(y, p), roc_auc_score(y, [.1, .9, .4, .2, .8])); ConfusionMatrixDisplay.from_predictions(y, p).figure_.savefig("cm.png")
