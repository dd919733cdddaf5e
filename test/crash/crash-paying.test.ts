import { crashSuite } from './crash-suite.ts';

crashSuite('a gateway that dies while it takes and sends payments', (name) =>
  /^(write|create|confirm|relay)\./.test(name),
);
