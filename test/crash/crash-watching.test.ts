import { crashSuite } from './crash-suite.ts';

crashSuite('a gateway that dies while it decides payments, places events and sends webhooks', (name) =>
  /^(events|hooks|watch)\./.test(name),
);
