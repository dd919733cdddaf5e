import { globalSetup, globalTeardown } from '../global-setup.ts';
import { planOf, runPlan } from './run.ts';
await globalSetup();
try {
  for (const seed of process.argv.slice(2).map(Number)) {
    const a = await runPlan(planOf(seed)); const b = await runPlan(planOf(seed));
    const at = a.trace.findIndex((l, i) => l !== b.trace[i]);
    console.log('seed', seed, a.steps, b.steps, at === -1 ? 'SAME' : 'DIFFER at ' + at, a.violation?.message, b.violation?.message);
    if (at >= 0) { console.log(a.trace.slice(at - 6, at + 6).join('\n')); console.log('----'); console.log(b.trace.slice(at - 6, at + 6).join('\n')); }
  }
} finally { await globalTeardown(); }
