import 'mastery-reports-element';
import { createApp, h } from 'vue';

// Vue sets what the element has as a property.
globalThis.show = (properties) => createApp({ render: () => h('mastery-report', properties) }).mount('main');
