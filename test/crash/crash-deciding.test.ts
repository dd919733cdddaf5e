import { crashSuite } from './crash-suite.ts';

crashSuite('a gateway that dies while it decides payments and pays out', (name) =>
  /^(events|watch|refund|outgoing)\./.test(name),
);
