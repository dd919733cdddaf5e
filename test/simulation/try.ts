import { globalSetup, globalTeardown } from '../global-setup.ts';
import { planOf, runPlan } from './run.ts';
await globalSetup();
try {
  const [from = 1, to = from] = process.argv.slice(2).map(Number);
  for (let seed = from; seed <= to; seed += 1) {
    const at = performance.now();
    const r = await runPlan(planOf(seed));
    console.log(seed, r.plan.nodes, r.plan.clients, r.steps, Math.round(r.virtualMs / 1000) + 's', Math.round(performance.now() - at) + 'ms', r.traceHash, r.violation?.message ?? 'ok', [...r.faults].join(' '));
    if (process.env.TRACE) console.log(r.trace.slice(-Number(process.env.TRACE)).join('\n'));
    if (process.env.LABELS) console.log(r.labels.join(', '));
  }
} finally { await globalTeardown(); }
