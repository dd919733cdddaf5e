import { type Finding, fault, warning } from '../../domain/doctor/diagnosis.ts';
import { tryMailServer } from '../../mail/smtp.ts';
import { surveyRates } from '../../rates/survey-rates.ts';
import { readScreening, ScreeningListError } from '../../screening/follow-list.ts';
import { configuredSources, neededPairs } from '../../settings/rates.ts';
import { type Check, checked, configOf } from './check.ts';
import { listOf, NETWORKS } from './questions.ts';

/** Asks every rate source once, as `till rates` does. */
export const checkRates: Check = async ({ context, answers, registry }) => {
  const config = configOf({
    RATES: answers.RATES,
    RATE_SOURCES: answers.RATE_SOURCES ?? context.environment.RATE_SOURCES,
  });
  const networks = listOf(answers[NETWORKS]).flatMap((chainId) => {
    const network = registry.network(chainId);
    return network === undefined ? [] : [{ network, endpoints: [] }];
  });
  const needed = neededPairs(networks);
  if (config === undefined || needed.length === 0) return checked([]);
  const sources = configuredSources({ config, world: context.world }, networks);
  if (sources.length === 0) return checked([], ['Without rates, only tokens of the currency itself are offered.']);
  const survey = await surveyRates({ ...context, stop: new AbortController().signal }, sources);
  const without = needed.filter((pair) => {
    const legs = survey.legsOf(pair);
    return (
      legs.length === 0 || survey.pairs.some((each) => each.rate === undefined && legs.some((leg) => isSame(leg, each)))
    );
  });
  const names = without.map(({ base, quote }) => `${base}/${quote}`).join(', ');
  if (names === '') return checked([], ['Every pair has a rate.']);
  const message = `${names}: no rate, because too few sources answer or agree. Options that need it are not offered.`;
  return checked([warning(message, 'Run `till rates`, which shows what each source says.')]);
};

type Pair = ReturnType<typeof neededPairs>[number];

function isSame(one: Pair, other: Pair): boolean {
  return one.base === other.base && one.quote === other.quote;
}

export const checkScreening: Check = async ({ answers }) => {
  const path = answers.SCREENING_LIST ?? '';
  if (path === '') return checked([]);
  try {
    const { list } = (await readScreening(path)).decide([]);
    return checked([], list === null ? [] : [`The screening list is ${list.version} of ${list.date}.`]);
  } catch (error) {
    if (!(error instanceof ScreeningListError)) throw error;
    return checked([fault(error.message, 'Name a list in the form of docs/rates-and-screening.md, or none.')]);
  }
};

/** Connects to the mail server and signs in. No mail is sent. */
export const checkMail: Check = async ({ context: { world }, answers }) => {
  const url = answers.SMTP_URL ?? '';
  const terms = url === '' ? undefined : configOf({ SMTP_URL: url, MAIL_FROM: 'till@localhost.localdomain' })?.smtp;
  if (terms === undefined) return checked([]);
  const failed = await tryMailServer(world, terms);
  if (failed === undefined) return checked([], ['The mail server takes the sign-in.']);
  const findings: Finding[] = [
    warning(`Mail cannot be sent: ${failed.problem.replace(/\.$/, '')}.`, 'Correct SMTP_URL, or look at the server.'),
  ];
  return checked(findings);
};
