// What VisualVM's library makes of an hprof file: java -cp org-graalvm-visualvm-lib-jfluid-heap.jar Hprof.java FILE...
// Writes FILE.found, with lines: `class INSTANCES BYTES RETAINED NAME`, `root KIND SIZE RETAINED NAME`, and `instances N references N`.
import java.io.File;
import java.io.PrintWriter;
import java.util.Iterator;
import org.graalvm.visualvm.lib.jfluid.heap.*;

public class Hprof {
  /** Follows the pointers to a root: each is to lead on, and the last one is to be a root. */
  static void follow(Instance instance) {
    Instance at = instance;
    for (int steps = 0; !at.isGCRoot(); at = at.getNearestGCRootPointer(), steps++)
      if (at.getNearestGCRootPointer() == null || steps > 1000000)
        throw new IllegalStateException("no path to " + instance.getJavaClass().getName());
  }

  static void look(String name) throws Exception {
    Heap heap = HeapFactory.createHeap(new File(name));
    PrintWriter out = new PrintWriter(name + ".found", "UTF-8");
    long instances = 0, references = 0;
    for (Object each : heap.getAllClasses()) {
      JavaClass kind = (JavaClass) each;
      if (kind.getInstancesCount() > 0)
        out.println("class " + kind.getInstancesCount() + " " + kind.getAllInstancesSize() + " " + kind.getRetainedSizeByClass() + " " + kind.getName());
    }
    for (Object each : heap.getGCRoots()) {
      GCRoot root = (GCRoot) each;
      Instance of = root.getInstance();
      out.println("root " + root.getKind().replace(' ', '-') + " " + of.getSize() + " " + of.getRetainedSize() + " " + of.getJavaClass().getName());
    }
    for (Iterator<?> all = heap.getAllInstancesIterator(); all.hasNext(); instances++) {
      Instance instance = (Instance) all.next();
      references += instance.getReferences().size();
      follow(instance);
    }
    out.println("instances " + instances + " references " + references);
    out.close();
  }

  public static void main(String[] names) throws Exception {
    for (String name : names) look(name);
  }
}
// SPDX-License-Identifier: MIT
