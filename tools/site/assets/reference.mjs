// The API reference: Swagger UI over the published OpenAPI document. Where the API answers on this origin, its calls can be tried.
const place = document.querySelector('#reference');
const { document: name, calls, tokens } = place.dataset;

const response = await fetch(new URL(`../docs/openapi/${name}.json`, import.meta.url));
const spec = await response.json();

const ui = window.SwaggerUIBundle({
  domNode: place,
  spec,
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
  supportedSubmitMethods: calls === undefined ? [] : ['get', 'post'],
  onComplete: () => void offerTokens(),
});

/** On the local stack every call has a token of the chosen tenant; the sandbox needs none. */
async function offerTokens() {
  if (tokens === undefined || name === 'sandbox') return;
  const offered = await (await fetch(tokens)).json();
  const choice = document.createElement('select');
  choice.append(...offered.map(({ tenantId }) => new Option(tenantId)));
  const use = () => ui.preauthorizeApiKey('bearer', offered[choice.selectedIndex].token);
  choice.addEventListener('change', use);
  const label = document.createElement('label');
  label.append('Calls are authorized as a client of ', choice);
  place.before(label);
  use();
}
