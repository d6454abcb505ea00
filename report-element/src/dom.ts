type Child = Node | string | undefined | readonly Child[];
type Value = string | number | boolean | undefined | ((event: Event) => void);
type Attributes = Readonly<Record<string, Value>>;

function fill<Made extends Element>(element: Made, attributes: Attributes, children: readonly Child[]): Made {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name.slice('on'.length), value);
    else if (value !== undefined && value !== false)
      element.setAttribute(name, value === true ? '' : String(value));
  }
  const append = (child: Child): void => {
    if (typeof child === 'string' || child instanceof Node) element.append(child);
    else child?.forEach(append);
  };
  children.forEach(append);
  return element;
}

/** Makes an element of HTML. A text is always a text: nothing is parsed. */
export function h<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes,
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
  return fill(document.createElement(name), attributes, children);
}

/** Makes an element of SVG. */
export function svg<Name extends keyof SVGElementTagNameMap>(
  name: Name,
  attributes: Attributes,
  ...children: readonly Child[]
): SVGElementTagNameMap[Name] {
  return fill(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, children);
}
