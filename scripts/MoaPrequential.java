import com.yahoo.labs.samoa.instances.*;
import java.io.*;
import java.lang.management.ManagementFactory;
import java.util.*;
import moa.classifiers.Classifier;
import moa.classifiers.meta.OzaBoost;
import moa.classifiers.trees.HoeffdingTree;
import moa.core.Utils;

/**
 * HoeffdingTree and OzaBoost of MOA over rows, each predicted and then learned.
 *
 * <p>Arguments: a file of big-endian numbers (int32: rows, columns, classes; float64 by row: columns, class code),
 * the number of members, and seconds. Prints a line a learner: name, processor time a row in microseconds, guesses. As
 * Java compiles while it runs, rows are gone over anew until so many seconds have passed; the fastest round counts.
 */
public class MoaPrequential {
  public static void main(String[] words) throws Exception {
    DataInputStream in = new DataInputStream(new BufferedInputStream(new FileInputStream(words[0]), 1 << 20));
    int n = in.readInt(), columns = in.readInt(), classes = in.readInt();
    ArrayList<Attribute> attributes = new ArrayList<>();
    for (int j = 0; j < columns; j++) attributes.add(new Attribute("x" + j));
    ArrayList<String> names = new ArrayList<>();
    for (int c = 0; c < classes; c++) names.add("c" + c);
    attributes.add(new Attribute("class", names));
    Instances all = new Instances("rows", attributes, 0);
    all.setClassIndex(columns);
    InstancesHeader head = new InstancesHeader(all);
    Instance[] rows = new Instance[n];
    for (int i = 0; i < n; i++) {
      double[] values = new double[columns + 1];
      for (int j = 0; j <= columns; j++) values[j] = in.readDouble();
      rows[i] = new DenseInstance(1.0, values);
      rows[i].setDataset(head);
    }
    double seconds = Double.parseDouble(words[2]);
    told("HoeffdingTree", () -> new HoeffdingTree(), head, rows, seconds);
    told("OzaBoost", () -> boosted(Integer.parseInt(words[1])), head, rows, seconds);
  }

  /** By weights, without chance. */
  static OzaBoost boosted(int members) {
    OzaBoost learner = new OzaBoost();
    learner.pureBoostOption.set();
    learner.ensembleSizeOption.setValue(members);
    return learner;
  }

  interface Make {
    Classifier learner();
  }

  static void told(String name, Make make, InstancesHeader head, Instance[] rows, double seconds) {
    int[] guess = new int[rows.length];
    long least = Long.MAX_VALUE, sum = 0;
    do {
      Classifier learner = make.learner();
      learner.setModelContext(head);
      learner.prepareForUse();
      long began = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
      for (int i = 0; i < rows.length; i++) {
        guess[i] = Utils.maxIndex(learner.getVotesForInstance(rows[i]));
        learner.trainOnInstance(rows[i]);
      }
      long took = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - began;
      least = Math.min(least, took);
      sum += took;
    } while (sum < seconds * 1e9);
    StringBuilder line = new StringBuilder(name + " " + least / 1e3 / rows.length);
    for (int g : guess) line.append(' ').append(g);
    System.out.println(line);
  }
}
