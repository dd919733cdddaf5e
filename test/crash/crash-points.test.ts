import { CRASH_POINTS } from '../../src/runtime/crash-points.ts';
import { crashSuite } from './crash-suite.ts';

crashSuite('a gateway that dies', { isChosen: (name) => name in CRASH_POINTS, isAlways: true });
