import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Date;
import java.util.StringJoiner;
import java.util.TimeZone;
import org.quartz.CronExpression;

/** Answers lines of (expression in base64, zone, epoch ms, count) with fires in epoch seconds, or why there are none. */
public class Answers {
    private static final long PATIENCE_MS = 3000;

    public static void main(String[] arguments) throws Exception {
        BufferedReader asked = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream answers = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        for (String line = asked.readLine(); line != null; line = asked.readLine()) {
            answers.println(withinPatience(line.split("\t")));
        }
        answers.flush();
        System.exit(0);
    }

    private static String withinPatience(String[] asked) throws InterruptedException {
        String[] answer = {"hang"};
        Thread thread = new Thread(() -> answer[0] = answer(asked));
        thread.setDaemon(true);
        thread.start();
        thread.join(PATIENCE_MS);
        return answer[0];
    }

    private static String answer(String[] asked) {
        CronExpression rule;
        try {
            rule = new CronExpression(new String(Base64.getDecoder().decode(asked[0]), StandardCharsets.UTF_8));
        } catch (Throwable refused) {
            return "refused";
        }
        rule.setTimeZone(TimeZone.getTimeZone(asked[1]));
        StringJoiner fires = new StringJoiner(",");
        Date at = new Date(Long.parseLong(asked[2]));
        try {
            for (int left = Integer.parseInt(asked[3]); left > 0; left--) {
                at = rule.getTimeAfter(at);
                if (at == null) {
                    return "ended\t" + fires;
                }
                fires.add(Long.toString(at.getTime() / 1000));
            }
        } catch (Throwable failed) {
            return "refused";
        }
        return "fires\t" + fires;
    }
}
