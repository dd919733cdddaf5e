import type { Registry } from '../../chains/registry.ts';
import { isMailable } from '../../domain/mail.ts';
import { Problem, quote } from '../../settings/kinds.ts';
import { rpcUrls } from '../../settings/network-kinds.ts';
import { text as personName } from '../kinds.ts';
import { byKind, MAKE, orMade, type Question, settingQuestion } from './question.ts';

/** The answers so far, by the ids of questions. An empty text leaves a setting unset. */
export type Answers = Readonly<Record<string, string>>;

export interface Known {
  /**
   * The networks to choose from. Null until the question about the folder of additional networks (`NETWORKS_DIR`) is answered.
   */
  readonly registry: Registry | null;
  /** The address of a proxy that the check of the public URL saw. */
  readonly seenProxy: string | undefined;
}

export const NETWORKS = 'networks';
export const OPERATOR_NAME = 'operator name';
export const OPERATOR_EMAIL = 'operator email';
export const PARTNER_NAME = 'partner name';
export const RPC = 'RPC_URLS';

/** The id of the question about a network's endpoints: the setting, followed by the network. */
export const endpointsOf = (chainId: string) => `${RPC} ${chainId}`;

export const listOf = (answer: string | undefined): string[] => (answer ?? '').split(',').filter((each) => each !== '');

interface Step {
  readonly questions: (answers: Answers, known: Known) => readonly Question[];
  /** The condition under which the step is asked. A step without a condition is always asked. */
  readonly when?: (answers: Answers, known: Known) => boolean;
}

const isSet = (answers: Answers, id: string) => (answers[id] ?? '') !== '';

/** Every question of the set-up, in order. A question may depend on the answers to earlier ones. */
const STEPS: readonly Step[] = [
  one(settingQuestion('networksDir', 'Folder with networks of your own', { isOptional: true, fallback: '' })),
  { questions: (_, { registry }) => (registry === null ? [] : [networksQuestion(registry)]) },
  one(settingQuestion('databaseUrl', 'URL of the PostgreSQL database', { check: 'database' })),
  one(
    settingQuestion(
      'databaseMigrateUrl',
      'The same database with the role that owns the tables, if it is another role',
      {
        isOptional: true,
        fallback: '',
        check: 'rights',
      },
    ),
  ),
  one(
    settingQuestion('secretFile', 'File with the master secret', {
      isOptional: true,
      fallback: '',
      fallbackWords: 'it is kept in the file of the settings',
      check: 'secret',
    }),
  ),
  {
    ...one(
      settingQuestion('secret', 'Master secret', {
        how: { is: 'hidden' },
        fallback: MAKE,
        fallbackWords: 'a new one is made',
        check: 'secret',
        read: orMade(settingQuestion('secret', '').read),
      }),
    ),
    when: (answers) => !isSet(answers, 'TILL_SECRET_FILE'),
  },
  one(settingQuestion('host', 'Address that Till listens on')),
  one(settingQuestion('port', 'Port that Till listens on')),
  { questions: (answers, { registry }) => [publicUrlQuestion(answers, registry)] },
  { questions: (_, { seenProxy }) => [proxyQuestion(seenProxy)] },
  {
    questions: (answers, { registry }) =>
      listOf(answers[NETWORKS]).map((chainId) => endpointsQuestion(chainId, registry)),
  },
  one(
    settingQuestion('externalSignerUrl', 'URL of an external signer, which holds the keys', {
      isOptional: true,
      fallback: '',
      fallbackWords: 'the keys are kept in the file of the settings',
      check: 'signer',
    }),
  ),
  { questions: (answers) => [relayersQuestion(isSet(answers, 'EXTERNAL_SIGNER_URL'))] },
  { questions: (answers) => [intermediateQuestion(isSet(answers, 'EXTERNAL_SIGNER_URL'))] },
  {
    ...one(
      settingQuestion('intermediateAccount', 'Account that keeps payments to merchants without a destination', {
        fallback: undefined,
      }),
    ),
    when: (answers) => !isSet(answers, 'INTERMEDIATE_KEY'),
  },
  one(settingQuestion('feeAccount', 'Account that fees are paid to')),
  one(
    settingQuestion('rates', 'Exchange rates', {
      how: {
        is: 'choice',
        options: [
          { value: 'public', label: 'public sources that need no key' },
          { value: '', label: 'none, or those of RATE_SOURCES' },
        ],
      },
      isOptional: true,
      fallback: 'public',
      check: 'rates',
    }),
  ),
  one(
    settingQuestion('screeningList', 'File of accounts that may not pay', {
      isOptional: true,
      fallback: '',
      fallbackWords: 'nobody is screened',
      check: 'screening',
    }),
  ),
  one(
    settingQuestion('smtp', 'URL of the mail server', {
      isOptional: true,
      fallback: '',
      fallbackWords: 'no mail is sent',
      check: 'mail',
    }),
  ),
  { ...one(settingQuestion('mailFrom', 'Sender of mails')), when: hasMail },
  {
    ...one(settingQuestion('alertEmails', 'Addresses that get alerts', { isOptional: true, fallback: '' })),
    when: hasMail,
  },
  one(personQuestion(OPERATOR_NAME, 'Name of the first operator', 'somebody is invited later')),
  {
    ...one({
      ...personQuestion(OPERATOR_EMAIL, 'E-mail address of the first operator'),
      isOptional: false,
      read: email,
    }),
    when: (answers) => isSet(answers, OPERATOR_NAME),
  },
  one(personQuestion(PARTNER_NAME, 'Name of the first partner, such as your shop or platform', 'one is added later')),
];

/** The questions to ask, given the answers so far. Each new answer may add questions. */
export function questionsFor(answers: Answers, known: Known): readonly Question[] {
  return STEPS.filter(({ when }) => when?.(answers, known) ?? true).flatMap(({ questions }) =>
    questions(answers, known),
  );
}

/**
 * The ids of all questions, including those that are asked only after certain answers. RPC_URLS stands for the questions about
 * the endpoints of each network.
 */
export function allQuestionIds(known: Known): readonly string[] {
  return [...STEPS.flatMap(({ questions }) => questions({}, known).map(({ id }) => id)), NETWORKS, RPC];
}

function one(question: Question): Step {
  return { questions: () => [question] };
}

function hasMail(answers: Answers): boolean {
  return isSet(answers, 'SMTP_URL');
}

function networksQuestion(registry: Registry): Question {
  const payable = registry.networks.filter(({ finality }) => finality !== undefined);
  const options = payable.map(({ chainId, name, mode }) => ({
    value: chainId,
    label: `${name} (${chainId}, ${mode})`,
  }));
  return {
    id: NETWORKS,
    words: 'Networks to take payments on',
    how: { is: 'several', options },
    isSecret: false,
    isOptional: false,
    fallback: undefined,
    check: undefined,
    read: (raw) => {
      const list = listOf(raw).map((each) => each.trim());
      const unknown = list.find((each) => !options.some(({ value }) => value === each));
      if (unknown !== undefined)
        return new Problem(`must list networks that take payments, and ${quote(unknown)} is none`);
      if (new Set(list).size < list.length) return new Problem('must name each network once');
      return list.length === 0 ? new Problem('must name at least one network') : list.join(',');
    },
  };
}

/** The question for the public URL. With live networks it has no default, because payers cannot reach an address of this machine. */
function publicUrlQuestion(answers: Answers, registry: Registry | null): Question {
  const isLive = listOf(answers[NETWORKS]).some((chainId) => registry?.network(chainId)?.mode === 'live');
  const words = 'Public URL, which payers and wallets see; a proxy with TLS leads it to that port';
  const fallback = isLive ? undefined : `http://localhost:${answers.PORT ?? ''}`;
  return settingQuestion('publicUrl', words, { fallback, check: 'public-url' });
}

function proxyQuestion(seenProxy: string | undefined): Question {
  return settingQuestion('trustProxy', 'Addresses of the proxies, whose X-Forwarded-For is believed', {
    isOptional: true,
    fallback: seenProxy ?? '',
    check: 'proxy',
  });
}

function endpointsQuestion(chainId: string, registry: Registry | null): Question {
  const name = registry?.network(chainId)?.name ?? chainId;
  return {
    ...settingQuestion('rpcUrls', `RPC endpoints of ${name} (${chainId}), two or better three, with commas between`),
    id: endpointsOf(chainId),
    check: 'endpoints',
    read: (raw, known) => {
      const read = byKind(rpcUrls())(`${chainId}=${raw}`, known);
      return read instanceof Problem ? read : raw;
    },
  };
}

function relayersQuestion(isSigned: boolean): Question {
  const words = isSigned
    ? 'Addresses of the relayers, which pay for gas; the signer holds their keys'
    : 'Private keys of the relayers, which pay for gas';
  return settingQuestion('relayerKeys', words, {
    ...madeKeys(isSigned, settingQuestion('relayerKeys', '').read),
    check: 'relayers',
  });
}

function intermediateQuestion(isSigned: boolean): Question {
  const words = isSigned
    ? 'Address of the intermediate account, which pays payouts and refunds; the signer holds its key'
    : 'Private key of the intermediate account, which pays payouts and refunds';
  return settingQuestion('intermediateKey', words, {
    ...madeKeys(isSigned, settingQuestion('intermediateKey', '').read),
    isOptional: true,
    check: 'intermediate',
  });
}

/**
 * The parts of a question about keys that depend on who holds the keys. The set-up offers to create a key only if it also stores
 * the key. If an external signer holds the keys, it never creates one.
 */
function madeKeys(isSigned: boolean, read: Question['read']) {
  if (isSigned) return { how: { is: 'text' }, fallback: undefined, read } as const;
  return { how: { is: 'hidden' }, fallback: MAKE, fallbackWords: 'a new one is made', read: orMade(read) } as const;
}

function personQuestion(id: string, words: string, fallbackWords?: string): Question {
  return {
    id,
    words,
    how: { is: 'text' },
    isSecret: false,
    isOptional: true,
    fallback: fallbackWords === undefined ? undefined : '',
    ...(fallbackWords !== undefined && { fallbackWords }),
    check: undefined,
    read: (raw, registry) => {
      const read = personName.parse(raw, 0, registry);
      return typeof read === 'string' ? read : new Problem(read.text);
    },
  };
}

function email(raw: string): string | Problem {
  return isMailable(raw) ? raw : new Problem(`must be an e-mail address (it is ${quote(raw)})`);
}
