import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.File;
import java.io.PrintWriter;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.net.http.HttpRequest;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Map;
import java.util.function.Consumer;

/** Makes each call of a file with the generated clients, and writes what they made of the answers. */
public final class Driver {
  private static final ObjectMapper JSON = new ObjectMapper();

  public static void main(String[] arguments) throws Exception {
    try (PrintWriter out = new PrintWriter(arguments[1])) {
      for (JsonNode call : JSON.readTree(new File(arguments[0]))) out.println(JSON.writeValueAsString(made(call)));
    }
  }

  private static ObjectNode made(JsonNode call) {
    ObjectNode made = JSON.createObjectNode().put("key", call.get("key").asText());
    String service = call.get("service").asText();
    try {
      Class<?> type = Class.forName(service + ".ApiClient");
      Object client = type.getConstructor().newInstance();
      type.getMethod("updateBaseUri", String.class).invoke(client, call.get("url").asText());
      Consumer<HttpRequest.Builder> authorize =
          request -> request.header("Authorization", "Bearer " + call.get("token").asText());
      type.getMethod("setRequestInterceptor", Consumer.class).invoke(client, authorize);
      ObjectMapper mapper = (ObjectMapper) type.getMethod("getObjectMapper").invoke(client);
      Object api = Class.forName(service + ".api." + apiOf(call)).getConstructor(type).newInstance(client);
      String name = call.get("operationID").asText() + "WithHttpInfo";
      // The overload with more parameters also takes headers.
      Method method = Arrays.stream(api.getClass().getMethods()).filter(each -> each.getName().equals(name))
          .min(Comparator.comparing(Method::getParameterCount)).orElseThrow();
      Object response;
      try {
        response = method.invoke(api, Arrays.stream(method.getParameters())
            .map(parameter -> mapper.convertValue(valueOf(parameter, call), mapper.constructType(parameter.getParameterizedType())))
            .toArray());
      } catch (InvocationTargetException failed) {
        return madeOfProblem(made, service, mapper, failed.getCause());
      }
      made.put("status", (int) response.getClass().getMethod("getStatusCode").invoke(response));
      made.set("answer", mapper.valueToTree(response.getClass().getMethod("getData").invoke(response)));
    } catch (Exception failure) {
      made.put("error", String.valueOf(failure));
    }
    return made;
  }

  private static ObjectNode madeOfProblem(ObjectNode made, String service, ObjectMapper mapper, Throwable failure) throws Exception {
    String body = failure.getClass().getSimpleName().equals("ApiException")
        ? (String) failure.getClass().getMethod("getResponseBody").invoke(failure) : null;
    if (body == null) return made.put("error", String.valueOf(failure));
    Class<?> problem = Class.forName(service + ".model." + upper(service) + "Problem");
    made.put("status", (int) failure.getClass().getMethod("getCode").invoke(failure));
    made.set("answer", mapper.valueToTree(mapper.readValue(body, problem)));
    return made;
  }

  private static JsonNode valueOf(Parameter parameter, JsonNode call) {
    Map<String, String> headers = Map.of("idempotencyKey", "Idempotency-Key", "ifMatch", "If-Match");
    String name = headers.getOrDefault(parameter.getName(), parameter.getName());
    JsonNode named = call.get("named").get(name);
    if (named != null) return named;
    return parameter.getType().getSimpleName().endsWith("Request") ? call.get("body") : null;
  }

  private static String apiOf(JsonNode call) {
    StringBuilder name = new StringBuilder();
    for (String word : call.get("tag").asText().split("-")) name.append(upper(word));
    return name.append("Api").toString();
  }

  private static String upper(String word) {
    return word.substring(0, 1).toUpperCase() + word.substring(1);
  }
}
