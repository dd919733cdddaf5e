import { globalSetup, globalTeardown } from '../global-setup.ts';
import { MUTANTS } from './mutants.ts';
import { planOf, runPlan } from './run.ts';
await globalSetup();
try {
  const [from = 1, max = 6, only] = process.argv.slice(2);
  for (const mutant of MUTANTS) {
    if (only && !mutant.name.includes(only)) continue;
    for (let seed = Number(from); ; seed += 1) {
      const at = performance.now();
      const r = await runPlan(planOf(seed), mutant);
      if (r.violation || seed >= Number(max)) { console.log(mutant.name, '|', r.violation ? `seed ${seed}: ${r.violation.message.slice(0, 160)}` : 'MISSED', Math.round(performance.now() - at)); break; }
    }
  }
} finally { await globalTeardown(); }
