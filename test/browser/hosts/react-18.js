import 'mastery-reports-element';
import { createElement } from 'react-18';
import { createRoot } from 'react-dom-18/client';

// React 18 sets attributes only: properties by ref.
globalThis.show = (properties) => {
  const ref = (element) => {
    if (element !== null) Object.assign(element, properties);
  };
  createRoot(document.querySelector('main')).render(createElement('mastery-report', { ref }));
};
