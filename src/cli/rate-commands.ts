import { decimalOf, type Pair } from '../domain/rate.ts';
import { keyOf } from '../rates/rate-book.ts';
import { type Opinion, type PairSurvey, type Survey, surveyRates } from '../rates/survey-rates.ts';
import { isSandbox } from '../settings/chains.ts';
import type { Config } from '../settings/config.ts';
import { configuredSources, neededPairs } from '../settings/rates.ts';
import { knownNetworks } from './chains.ts';
import { type Command, command, type Output } from './command.ts';
import { pair } from './kinds.ts';
import { optional } from './options.ts';
import { layoutTable } from './table.ts';

const rates = command({
  name: 'rates',
  summary: 'Ask every rate source once: its price, its age, why it is left out. Exit code 1 when a pair has no rate.',
  options: { pair: optional(pair, 'Only the pairs that make up this one, such as ETH/EUR.') },
  examples: ['rates', 'rates --pair ETH/EUR', 'rates --json'],
  run: async (context, { pair: wanted }) => {
    const networks = await knownNetworks(context);
    const sources = configuredSources(context, networks);
    const settings = settingsOf(context.config);
    if (sources.length === 0) return { json: { settings, pairs: [], withoutSources: [] }, text: NO_SOURCES[settings] };
    const survey = await surveyRates({ ...context, stop: new AbortController().signal }, sources);
    const needed = wanted === undefined ? neededPairs(networks) : [wanted];
    const missing = needed.filter((one) => survey.legsOf(one).length === 0);
    const isAsked = wanted !== undefined;
    return report(context.world.clock.nowMs(), { settings, pairs: shown(survey, wanted), missing, isAsked });
  },
});

export const rateCommands: readonly Command[] = [rates];

type Settings = 'public' | 'own' | 'public and own' | 'sandbox table' | 'none';

function settingsOf(config: Config): Settings {
  const own = config.rateSources === undefined ? 'none' : 'own';
  if (config.rates !== undefined) return own === 'own' ? 'public and own' : 'public';
  return own === 'none' && isSandbox(config) ? 'sandbox table' : own;
}

const NONE = 'No rate sources are configured: only tokens of the currency itself are offered. Set RATES=public.';
const NO_SOURCES: Readonly<Record<Settings, string>> = {
  'sandbox table': 'The sandbox uses a fixed table of invented rates. RATES=public replaces it.',
  none: NONE,
  own: NONE,
  public: NONE,
  'public and own': NONE,
};

/** The pairs of a survey. If the operator wants one pair, only the pairs that make up its rate. */
function shown({ pairs, legsOf }: Survey, wanted: Pair | undefined): readonly PairSurvey[] {
  if (wanted === undefined) return pairs;
  const keys = legsOf(wanted).map(keyOf);
  return pairs.filter((one) => keys.includes(keyOf(one)));
}

interface Report {
  readonly settings: Settings;
  readonly pairs: readonly PairSurvey[];
  /** The needed pairs for which no source is configured. */
  readonly missing: readonly Pair[];
  /**
   * True if the command line names a pair. Only then is a missing source a failure: without a pair, all coins are examined, and
   * an operator need not offer every coin.
   */
  readonly isAsked: boolean;
}

function report(nowMs: number, { settings, pairs, missing, isAsked }: Report): Output {
  const rows = pairs.flatMap((survey) => survey.opinions.map((opinion) => ({ survey, opinion })));
  const table = layoutTable(rows, [
    { title: 'pair', cell: ({ survey }) => nameOf(survey) },
    { title: 'source', cell: ({ opinion }) => opinion.source },
    { title: 'price', cell: ({ opinion: { value } }) => (value === undefined ? null : decimalOf(value)) },
    { title: 'age', cell: ({ opinion }) => ageText(ageOf(opinion, nowMs)) },
    { title: 'rate', cell: ({ survey: { rate } }) => (rate === undefined ? null : decimalOf(rate.value)) },
    { title: 'left out', cell: ({ opinion: { leftOut } }) => leftOut ?? null },
  ]);
  const without = pairs.filter(({ rate }) => rate === undefined).map(nameOf);
  const verdict = [
    ...without.map((name) => `${name} has no rate: too few sources agree. Options that need it are not offered.`),
    ...missing.map((one) => `${nameOf(one)} has no sources. Options that need it are not offered.`),
  ];
  const json = {
    settings,
    pairs: pairs.map((survey) => ({
      pair: nameOf(survey),
      rate: survey.rate === undefined ? null : decimalOf(survey.rate.value),
      readings: survey.opinions.map((opinion) => readingJson(opinion, nowMs)),
    })),
    withoutSources: missing.map(nameOf),
  };
  const lines = verdict.length === 0 ? ['Every pair has a rate.'] : verdict;
  const text = [...(rows.length === 0 ? [] : [table, '']), ...lines].join('\n');
  const isWell = without.length === 0 && (!isAsked || missing.length === 0);
  return { json, text, exitCode: isWell ? 0 : 1 };
}

function readingJson(opinion: Opinion, nowMs: number) {
  const { source, kind, answer, leftOut } = opinion;
  const said = 'price' in answer ? answer : undefined;
  return {
    source,
    kind,
    pair: nameOf(answer),
    price: said?.price ?? null,
    statedAt: said?.statedAtMs === undefined ? null : new Date(said.statedAtMs).toISOString(),
    ageS: ageOf(opinion, nowMs),
    isUsed: leftOut === undefined,
    leftOut: leftOut ?? null,
  };
}

const nameOf = ({ base, quote }: Pair) => `${base}/${quote}`;

/**
 * The age of a price in whole seconds, since the time that its source states. Null if the source states none: the price was then
 * read just now.
 */
function ageOf({ answer }: Opinion, nowMs: number): number | null {
  if (!('price' in answer) || answer.statedAtMs === undefined) return null;
  return Math.max(0, Math.floor((nowMs - answer.statedAtMs) / 1_000));
}

const HOUR_S = 3_600;

function ageText(seconds: number | null): string | null {
  if (seconds === null) return null;
  return seconds < HOUR_S ? `${seconds} s` : `${Math.floor(seconds / HOUR_S)} h`;
}
