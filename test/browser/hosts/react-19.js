import 'mastery-reports-element';
import { createElement } from 'react';
import { createRoot } from 'react-dom/client';

// React 19 sets properties of custom elements itself.
globalThis.show = (properties) =>
  createRoot(document.querySelector('main')).render(createElement('mastery-report', properties));
