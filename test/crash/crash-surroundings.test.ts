import { crashSuite } from './crash-suite.ts';

crashSuite('a gateway whose surroundings die', (name) => name.startsWith('SIG'));
