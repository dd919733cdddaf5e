import { addressOf } from '../../shared/text.ts';

/** The part of a paired wallet's session that this payment can use. */
export interface Session {
  readonly topic: string;
  readonly pairingTopic: string;
  /** CAIP-10, in lower case, the preferred account first. */
  readonly accounts: readonly string[];
  /** The networks of the accounts, CAIP-2. */
  readonly networks: readonly string[];
  readonly methods: readonly string[];
}

interface Settled {
  readonly topic: string;
  readonly pairingTopic: string;
  /** The accounts and methods that the wallet shares, by namespace (`eip155`) or by network (`eip155:1`). */
  readonly namespaces: Readonly<Record<string, unknown>>;
}

/** Reads a wallet's answer, which may contain other accounts, networks and methods than requested. */
export function readSession({ topic, pairingTopic, namespaces }: Settled, networks: readonly string[]): Session {
  const ours = Object.entries(namespaces)
    .filter(([name]) => /^eip155(:\d+)?$/.test(name))
    .map(([, namespace]) => Object(namespace) as Record<string, unknown>);
  const accounts = ours
    .flatMap((namespace) => textsIn(namespace.accounts))
    .map((account) => account.toLowerCase())
    .filter((account) => ACCOUNT.test(account) && networks.includes(networkOf(account)));
  return {
    topic,
    pairingTopic,
    accounts,
    networks: [...new Set(accounts.map(networkOf))],
    methods: ours.flatMap((namespace) => textsIn(namespace.methods)),
  };
}

/** Moves the account to which the wallet has switched to the front of the list. An account that the wallet never shared is ignored. */
export function orderedBy(session: Session, switchedTo: unknown): Session {
  const wanted = textsIn(switchedTo).map((account) => addressOf(account.toLowerCase()));
  const isWanted = (account: string) => addressOf(account) === wanted[0];
  const { accounts } = session;
  return { ...session, accounts: [...accounts.filter(isWanted), ...accounts.filter((each) => !isWanted(each))] };
}

/** The addresses of the accounts, without duplicates. */
export function addressesIn(session: Session | null): readonly string[] {
  return [...new Set(session?.accounts.map(addressOf))];
}

export function sharesNetwork({ networks }: Session, network: string): boolean {
  return networks.includes(network);
}

const ACCOUNT = /^eip155:\d+:0x[0-9a-f]{40}$/;

function networkOf(account: string): string {
  return account.slice(0, account.lastIndexOf(':'));
}

function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}
