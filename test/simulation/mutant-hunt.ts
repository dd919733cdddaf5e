import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { HuntOrder, HuntReport, MutantOrder, MutantReport } from './hunter.ts';
import { forkHunter } from './hunter-process.ts';
import { openCopies } from './mutant-copies.ts';
import { MUTANTS, unusedEdits } from './mutants.ts';
import { NAMED_MUTANTS, type NamedMutant } from './named-mutants.ts';
import type { Plan } from './plan.ts';

/** A mutant that is not caught by this many seeds is missed. */
const MUTANT_SEEDS = 40;
const MONEY = join(import.meta.dirname, '../money/mutants.ts');

export interface MutantHuntInput {
  /** Only the mutants whose names match this pattern. */
  readonly only: string;
  readonly isShort: boolean;
  readonly print: (text: string) => void;
}

/** Mutants of one kind, with a table of those that were tried. */
interface Part {
  readonly title: string;
  readonly head: string;
  readonly rows: string[];
  ms: number;
}

/** What became of a mutant: a row of its table, and the same in words. */
interface Outcome {
  readonly row: string;
  readonly isMissed: boolean;
  readonly words: string;
}

interface Task {
  readonly name: string;
  readonly part: Part;
  run(lane: Lane): Promise<Outcome>;
}

/** One of the cores, with a process of its own and a copy of the source of its own. */
interface Lane {
  ask<Report>(order: HuntOrder | MutantOrder): Promise<Report>;
  isNoticed(mutant: NamedMutant): Promise<boolean>;
  /** Edits that no statement has matched in this process. */
  unused: readonly string[] | undefined;
}

/** Tries all broken variants on all cores. Returns the number of those that nothing notices. */
export async function huntMutants({ only, isShort, print }: MutantHuntInput): Promise<number> {
  const startMs = Date.now();
  const isChosen = ({ name }: { readonly name: string }) => new RegExp(only).test(name);
  const simulated = newPart('mutants of the simulation', '| mutant | caught by | seed | steps |\n|---|---|---|---|');
  const named = newPart('changed lines', '| changed line | noticed by |\n|---|---|');
  const money = newPart('functions of money', '');
  const copies = openCopies(NAMED_MUTANTS.filter(isChosen));
  /** Violations without a mutant. Several mutants are caught by the same plan. */
  const own = new Map<string, Promise<string | undefined>>();
  const waiting: Task[] = [
    // One process tries all of them.
    ...(only === '' ? [{ name: 'the functions of money', part: money, run: tryMoney }] : []),
    ...MUTANTS.filter(isChosen)
      .toSorted((a, b) => a.seed - b.seed)
      .map(({ name }) => ({ name, part: simulated, run: (lane: Lane) => trySimulated(lane, name) })),
    ...NAMED_MUTANTS.filter(isChosen).map((mutant) => ({
      name: mutant.name,
      part: named,
      run: (lane: Lane) => tryNamed(lane, mutant),
    })),
  ];
  const all = waiting.length;
  const lanes: Lane[] = [];
  let [done, missed] = [0, 0];
  try {
    await Promise.all(Array.from({ length: availableParallelism() }, runSome));
  } finally {
    copies.close();
  }
  const spent = [simulated, named, money].filter(({ rows }) => rows.length > 0);
  for (const { head, rows } of spent) print(`\n${[head, ...rows].join('\n').trim()}`);
  print('');
  for (const { title, rows, ms } of spent)
    print(`${title}: ${rows.length}, ${(ms / 60_000).toFixed(1)} minutes of a core`);
  const never =
    only === '' ? unusedEdits().filter((edit) => lanes.every(({ unused }) => unused?.includes(edit) ?? true)) : [];
  for (const edit of never) print(`never found in a statement: ${edit}`);
  print(`${all} mutants, ${missed} missed, in ${minutes()}`);
  return missed + never.length;

  async function runSome(): Promise<void> {
    const lane = openLane();
    lanes.push(lane);
    try {
      for (let task = waiting.shift(); task !== undefined; task = waiting.shift()) {
        const beginMs = Date.now();
        const { row, isMissed, words } = await task.run(lane);
        const ms = Date.now() - beginMs;
        task.part.rows.push(row);
        task.part.ms += ms;
        done += 1;
        if (isMissed) missed += 1;
        print(`${minutes()}, ${done} of ${all}: ${task.name}: ${words}, ${(ms / 1000).toFixed(0)} s`);
      }
    } finally {
      lane.close();
    }
  }

  function minutes(): string {
    return `${((Date.now() - startMs) / 60_000).toFixed(1)} minutes`;
  }

  async function trySimulated(lane: Lane, name: string): Promise<Outcome> {
    const order: MutantOrder = { mutant: name, isShort, most: MUTANT_SEEDS };
    const { invariant, plan, seeds, steps, unused } = await lane.ask<MutantReport>(order);
    lane.unused = unused;
    const ownViolation = invariant === undefined ? undefined : await violationWithout(lane, plan);
    const isMissed = invariant === undefined || ownViolation !== undefined;
    const caughtBy = ownViolation === undefined ? (invariant ?? '**missed**') : `**without it, too: ${ownViolation}**`;
    return {
      row: `| ${name} | ${caughtBy} | ${plan.seed} | ${steps.toLocaleString('en')} |`,
      isMissed,
      words: `${caughtBy}, seed ${plan.seed}, ${seeds} tried, ${steps} steps`,
    };
  }

  /** A promise that the gateway itself breaks notices no mutant. */
  function violationWithout(lane: Lane, plan: Plan): Promise<string | undefined> {
    const key = JSON.stringify(plan);
    const found = own.get(key) ?? lane.ask<HuntReport>({ plan, isRepeated: false }).then(({ violation }) => violation);
    own.set(key, found);
    return found;
  }

  async function tryNamed(lane: Lane, mutant: NamedMutant): Promise<Outcome> {
    const isNoticed = await lane.isNoticed(mutant);
    const by = isNoticed ? `\`${mutant.test}\`` : '**missed**';
    return { row: `| ${mutant.name} | ${by} |`, isMissed: !isNoticed, words: by };
  }

  function openLane(): Lane & { close(): void } {
    let child: ChildProcess | undefined;
    let copy: ReturnType<typeof copies.open> | undefined;
    return {
      unused: undefined,
      async ask<Report>(order: HuntOrder | MutantOrder): Promise<Report> {
        child ??= forkHunter();
        const answered = new AbortController();
        const { signal } = answered;
        const ended = once(child, 'exit', { signal }).then(() =>
          Promise.reject(new Error('A process of the hunt has died.')),
        );
        ended.catch(() => {});
        child.send(order);
        try {
          const [report] = await Promise.race([once(child, 'message', { signal }), ended]);
          return report as Report;
        } finally {
          answered.abort();
        }
      },
      isNoticed(mutant) {
        copy ??= copies.open();
        return copy.isNoticed(mutant);
      },
      close() {
        if (child?.connected) child.disconnect();
      },
    };
  }
}

function newPart(title: string, head: string): Part {
  return { title, head, rows: [], ms: 0 };
}

/** Runs the mutants of the functions of money. They have their own tests and their own table. */
async function tryMoney(): Promise<Outcome> {
  const child = spawn(process.execPath, [MONEY], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [table, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  return { row: table.trim(), isMissed: code !== 0, words: code === 0 ? 'all are noticed' : '**missed**' };
}
