import { crashSuite } from './crash-suite.ts';

crashSuite('a gateway that dies while it decides payments and places events', (name) => /^(events|watch)\./.test(name));
