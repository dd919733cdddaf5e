import { crashSuite } from './crash-suite.ts';

crashSuite('a gateway that dies while it pays out, or whose surroundings die', (name) =>
  /^(refund|outgoing)\.|^SIG/.test(name),
);
