import { type Finding, warning } from '../domain/doctor/diagnosis.ts';
import { ApiError } from '../errors.ts';
import { unlinkIfThere } from '../sandbox/whole-file.ts';
import { type EnvValues, readEnvText, unsetIn } from '../settings/env-file.ts';
import { ENV_FILE } from '../settings/environment.ts';
import { type Command, command, type Output } from './command.ts';
import type { Context } from './connect.ts';
import { QUIET } from './examine-gateway.ts';
import { readAnswers, readAnswersFile, refusal } from './init/answers-file.ts';
import { type Asked, type Asker, askAll } from './init/ask-all.ts';
import { finish } from './init/finish.ts';
import { missingLines } from './init/missing.ts';
import { answersOf, type Difference, type Plan, planOf, settingsOf } from './init/plan.ts';
import { isOpenToOthers, readIfThere, writePrivateFile } from './init/private-file.ts';
import { createPrompter, InterruptedError, type Prompter } from './init/prompter.ts';
import { type Answers, type Known, listOf, NETWORKS } from './init/questions.ts';
import { text } from './kinds.ts';
import { flag, optional, withDefault } from './options.ts';

const path = { ...text, placeholder: 'file' };

const init = command({
  name: 'init',
  summary:
    'Set the gateway up: ask for its settings, check each answer, write them to a file, and say what is missing.',
  options: {
    answers: optional(path, 'Answers to the questions, as JSON. Without --yes they are suggestions.'),
    yes: flag(
      'Ask nothing: the answers, the file and the defaults count, and the first that cannot be used ends the set-up.',
    ),
    file: withDefault(path, ENV_FILE, 'The file of the settings.'),
  },
  examples: ['init', 'init --answers answers.json --yes', 'init --file /etc/till.env'],
  readsSettings: false,
  run: (context, { answers, yes: isScript, file }) =>
    setUp({ ...context, log: QUIET }, { answersFile: answers, isScript, file }),
});

export const initCommands: readonly Command[] = [init];

interface SetUp {
  readonly answersFile: string | undefined;
  readonly isScript: boolean;
  readonly file: string;
}

async function setUp(context: Context, { answersFile, isScript, file }: SetUp): Promise<Output> {
  const { terminal } = context;
  if (!isScript && terminal === undefined) {
    throw refusal('init asks questions, and this is no terminal: give --answers <file> --yes. Nothing was changed.');
  }
  const stop = context.untilInterrupted();
  const prompter = isScript || terminal === undefined ? undefined : createPrompter(terminal, stop);
  const text = await readIfThere(file);
  const before = readEnvText(text ?? '');
  const unset = Object.fromEntries(unsetIn(text ?? '').map((name) => [name, '']));
  const given = answersFile === undefined ? {} : await readAnswersFile(answersFile);
  const draft = draftOf(file);
  const hasDraft = prompter !== undefined && (await readIfThere(draft)) !== undefined;
  if (hasDraft) prompter.say(`An earlier set-up was interrupted: its answers are suggested, from ${draft}.`);
  const drafted = hasDraft ? await readAnswersFile(draft) : {};
  const suggestions = (known: Known): Answers =>
    withImplied({
      ...answersOf(withoutEmpty(context.environment), known.registry),
      ...answersOf({ ...unset, ...before }, known.registry),
      ...readAnswers(drafted, known),
      ...readAnswers(given, known),
    });
  const unasked = (known: Known): Answers => ({
    ...answersOf(before, known.registry),
    ...readAnswers(given, known),
  });
  const said: string[] = [];
  const asker: Asker = prompter ?? scriptedAsker(said, stop);
  const keep = async (answers: Answers) => {
    if (prompter !== undefined) await writePrivateFile(draft, `${JSON.stringify(answers, null, 2)}\n`);
  };
  const asked = await untilAborted(stop, askAll(context, { asker, suggestions, unasked, keep })).catch(
    async (error: unknown) => {
      throw error instanceof InterruptedError ? await interrupted(file) : error;
    },
  );
  const wanted = settingsOf(asked.answers, asked.registry);
  refuseOtherAccount(given, wanted);
  const plan = planOf(text, before, wanted);
  return await carryOut(context, { file, before, text, plan, asked, prompter, said });
}

/**
 * Rejects when the signal aborts, even if `work` goes on. The prompt handles Ctrl-C only during a question; between two questions,
 * Ctrl-C aborts the signal.
 */
function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return Promise.race([
    work,
    new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(new InterruptedError('The set-up was interrupted.')));
    }),
  ]);
}

/**
 * Adds the answers that other answers imply. If INTERMEDIATE_ACCOUNT is set, no INTERMEDIATE_KEY is created, because the account
 * of the new key would replace the given account. If RATE_SOURCES is set, the public rate sources are not added by default.
 */
function withImplied(answers: Answers): Answers {
  const has = (id: string) => (answers[id] ?? '') !== '';
  return {
    ...(has('INTERMEDIATE_ACCOUNT') && { INTERMEDIATE_KEY: '' }),
    ...(has('RATE_SOURCES') && { RATES: '' }),
    ...answers,
  };
}

function refuseOtherAccount({ INTERMEDIATE_ACCOUNT: given }: Record<string, unknown>, wanted: EnvValues): void {
  const account = wanted.INTERMEDIATE_ACCOUNT;
  if (typeof given !== 'string' || account === undefined || given.toLowerCase() === account.toLowerCase()) return;
  throw refusal(
    `INTERMEDIATE_KEY is the key of ${account}, and INTERMEDIATE_ACCOUNT is ${given}: leave one of them out. Nothing was changed.`,
  );
}

/** The environment without empty variables, which count as not set. */
function withoutEmpty(environment: EnvValues): EnvValues {
  return Object.fromEntries(Object.entries(environment).filter(([, value = '']) => value.trim() !== ''));
}

interface Ready {
  readonly file: string;
  readonly text: string | undefined;
  readonly before: EnvValues;
  readonly plan: Plan;
  readonly asked: Asked;
  readonly prompter: Prompter | undefined;
  readonly said: readonly string[];
}

async function carryOut(context: Context, ready: Ready): Promise<Output> {
  const { file, text, before, plan, asked, prompter, said } = ready;
  const { changed, differences } = plan;
  if ('problem' in changed) {
    throw refusal(`${file} is not changed: ${changed.problem}. Mend it by hand, and run init again.`);
  }
  if (prompter !== undefined && !(await isWanted(prompter, file, differences))) throw await interrupted(file);
  const isWritten = text === undefined || differences.length > 0;
  const copy = plan.losesSecret && text !== undefined ? await keepCopy(context, file, text) : undefined;
  if (isWritten) await writePrivateFile(file, changed.text);
  if (prompter !== undefined) await unlinkIfThere(draftOf(file));

  const after = readEnvText(changed.text);
  const values = environmentAfter(context.environment, { before, after });
  const { done, findings, refusals, risks, present } = await finish(context, values, asked.answers);
  const isLive = listOf(asked.answers[NETWORKS]).some((id) => asked.registry.network(id)?.mode === 'live');
  const shadowed = shadowedBy(context.environment, { before, after });
  const open = (await isOpenToOthers(file)) ? [openFile(file)] : [];
  const all = [...findings, ...asked.findings, ...shadowed, ...open];
  const missing = missingLines({ findings: all, refusals, present, isLive });
  const written = [
    isWritten ? `${file} is written. Only its owner can read it.` : `Nothing differs: ${file} is as it was.`,
    ...differences.map((difference) => `  ${differenceLine(difference)}`),
    ...(copy === undefined ? [] : [`The file before has other secrets. It is kept: ${copy}`]),
  ];
  const list = missing.map((line, index) => `${index + 1}. ${line}`);
  const end =
    missing.length === 0
      ? ['Nothing is missing before the first payment.']
      : ['Missing before the first payment:', ...list];
  const lines = [
    ...said,
    ...(said.length > 0 ? [''] : []),
    ...written,
    ...done.flatMap((each) => ['', each]),
    '',
    ...end,
    ...(risks.length > 0 ? ['', 'Worth knowing:', ...risks.map((risk) => `- ${risk}`)] : []),
  ];
  return { json: { file, isWritten, differences, said, done, missing, risks }, text: lines.join('\n') };
}

/**
 * An asker for scripts, which accepts every suggestion. The first answer that is refused ends the set-up, with a message in one
 * line.
 */
function scriptedAsker(said: string[], stop: AbortSignal): Asker {
  return {
    ask: async () => {
      if (stop.aborted) throw new InterruptedError('The set-up was interrupted.');
      return '';
    },
    refuse: (_, lines) => {
      throw refusal(`${lines.join(' ')} Nothing was changed.`);
    },
    take: (_, lines) => void said.push(...lines),
  };
}

async function isWanted(prompter: Prompter, file: string, differences: readonly Difference[]): Promise<boolean> {
  const lines = differences.map(differenceLine);
  prompter.say(
    lines.length === 0 ? `Nothing differs from ${file}.` : [`What changes in ${file}:`, ...lines].join('\n'),
  );
  const words = 'Write the file, migrate the database, and add the operator and partner?';
  return prompter.confirm(words).catch((error: unknown) => {
    if (error instanceof InterruptedError) return false;
    throw error;
  });
}

function differenceLine({ setting, before, after }: Difference): string {
  return `${setting}: ${before} → ${after}`;
}

async function keepCopy({ world }: Context, file: string, text: string): Promise<string> {
  const copy = `${file}.${new Date(world.clock.nowMs()).toISOString().replaceAll(':', '-')}`;
  await writePrivateFile(copy, text);
  return copy;
}

/** The path of the file with the answers of an unfinished set-up. It has the format of an answers file. */
function draftOf(file: string): string {
  return `${file}.draft`;
}

async function interrupted(file: string): Promise<ApiError> {
  const draft = draftOf(file);
  const isKept = (await readIfThere(draft)) !== undefined;
  const again = isKept ? `Run init again: it suggests your answers, from ${draft}.` : 'Run init again.';
  return new ApiError('invalid_state', `The set-up was interrupted: ${file} and the database are unchanged. ${again}`);
}

function openFile(file: string): Finding {
  return warning(`Other accounts of this machine can read ${file}, which has secrets.`, `Run \`chmod 600 ${file}\`.`);
}

interface Change {
  readonly before: EnvValues;
  readonly after: EnvValues;
}

/**
 * The environment of a node that starts after the set-up. Variables that came from the old settings file get the values of the new
 * file.
 */
function environmentAfter(environment: EnvValues, { before, after }: Change): EnvValues {
  const others = Object.entries(environment).filter(
    ([name, value]) => before[name] === undefined || before[name] !== value,
  );
  return { ...after, ...Object.fromEntries(others.filter(([, value]) => (value ?? '') !== '')) };
}

function shadowedBy(environment: EnvValues, { before, after }: Change): Finding[] {
  const names = Object.keys(after).filter((name) => {
    const own = environment[name]?.trim() ?? '';
    return own !== '' && own !== before[name]?.trim() && own !== after[name]?.trim();
  });
  return names.map((name) =>
    warning(
      `The environment has another ${name}, which has precedence over the file.`,
      `Unset ${name}, or set it to the same value.`,
    ),
  );
}
