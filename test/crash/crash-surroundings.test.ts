import { crashSuite } from './crash-suite.ts';

crashSuite('a gateway whose database, chain, network or disk fails', {
  isChosen: (name) => /^(SIG|network |disk )/.test(name),
  isAlways: false,
});
