// The API reference: Swagger UI over the published OpenAPI document. Where the API answers on this origin, its calls can be tried.
const place = document.querySelector('#reference');
const { document: name, calls, tokens } = place.dataset;

const dark = matchMedia('(prefers-color-scheme: dark)');
const followScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', followScheme);
followScheme();

const response = await fetch(new URL(`../docs/openapi/${name}.json`, import.meta.url));
const spec = await response.json();

const ui = window.SwaggerUIBundle({
  domNode: place,
  spec,
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
  syntaxHighlight: { activated: false },
  supportedSubmitMethods: calls === undefined ? [] : ['get', 'post'],
  onComplete: () => void offerTokens(),
});

/** On the local stack every call has a token of the chosen tenant; the sandbox needs none. */
async function offerTokens() {
  if (tokens === undefined || name === 'sandbox') return;
  const offered = await (await fetch(tokens)).json();
  const choice = document.createElement('select');
  choice.id = 'tenant';
  choice.append(...offered.map(({ tenantId }) => new Option(tenantId)));
  const use = () => {
    const { token, examples } = offered[choice.selectedIndex];
    ui.specActions.updateJsonSpec(withExamples(examples));
    ui.preauthorizeApiKey('bearer', token);
  };
  choice.addEventListener('change', use);
  const label = document.createElement('label');
  label.append('Calls are authorized as a client of ', choice);
  document.querySelector('#main section').append(label);
  use();
}

/** The document with ids of the local stack, so that a call that is tried finds something. */
function withExamples(examples) {
  const filled = structuredClone(spec);
  for (const operation of Object.values(filled.paths).flatMap(Object.values)) {
    for (const parameter of operation.parameters ?? []) {
      const example = parameter.in === 'path' && examples[operation.operationId]?.[parameter.name];
      if (example) parameter.example = example;
    }
  }
  return filled;
}

/** Names and roles that Swagger UI leaves out, by what they belong to: without them neither keyboard nor screen reader gets along. */
const missing = [
  ['.information-container', { role: 'region', 'aria-label': 'Introduction' }],
  ['.scheme-container', { role: 'region', 'aria-label': 'Server and authorization' }],
  ['.opblock-tag, .models h4', { role: 'heading', 'aria-level': '2' }],
  ['.opblock-section-header h4, .responses-inner h4, .responses-inner h5', { 'aria-level': '3' }],
  ['#servers', { 'aria-label': 'Server' }],
  ['.parameters select', { 'aria-label': 'Value' }],
  ['.content-type', { 'aria-label': 'Media type' }],
  ['.examples-select-element', { 'aria-label': 'Example' }],
  ['textarea.body-param__text', { 'aria-label': 'Request body' }],
  ['pre, .microlight, .table-container', { tabindex: '0' }],
];
function mend() {
  for (const [selector, attributes] of missing) {
    for (const element of place.querySelectorAll(selector)) {
      for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    }
  }
  // A link within a button: the button does the same.
  for (const link of place.querySelectorAll('button a[href]')) link.removeAttribute('href');
}
new MutationObserver(mend).observe(place, { childList: true, subtree: true });
