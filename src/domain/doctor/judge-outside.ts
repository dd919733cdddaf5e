import { clockRemark } from '../clock-off.ts';
import { formatDecimal } from '../money.ts';
import { isoText } from '../wait-words.ts';
import {
  bytesText,
  countText,
  type Finding,
  fault,
  type Judged,
  remark,
  spanText,
  unknown,
  warning,
} from './diagnosis.ts';
import type { AccountFacts, CertificateFacts, ClockFacts, DiskFacts, EndpointFacts, NetworkFacts } from './facts.ts';

/** The tolerated time by which a new block may be ahead of the clock. Block producers may write a time that is some seconds ahead. */
const HEAD_AHEAD_MS = 20_000;
/** A network stands still, or its watcher lags, if it is behind by more than this many blocks and more than this time. */
const STALE_BLOCKS = 20;
const STALE_MS = 120_000;
const SLOW_ANSWER_MS = 1_000;
/** The time by which an endpoint may lag behind the others, as in `rpc.ts`. On slow chains it may lag by `LAG_BLOCKS`. */
const LAG_MS = 15_000;
const LAG_BLOCKS = 3;
const QUORUM = 2;
const COIN_DECIMALS = 18;
const FEW_DAYS = 3n;
const GIB = 1024 ** 3;
const FULL_BYTES = GIB / 2;
const LOW_BYTES = 2 * GIB;
/** The share of free disk space below which the doctor warns, if less than `PLENTY_BYTES` are free. */
const LOW_SHARE = 0.1;
const PLENTY_BYTES = 50 * GIB;
const DAY_MS = 24 * 3_600_000;
const CERTIFICATE_WARN_MS = 21 * DAY_MS;
const CERTIFICATE_FAULT_MS = 3 * DAY_MS;

const TIME_SYNC = 'Repair the time synchronisation (NTP) of the machine.';

export function judgeClocks({ machineOffMs, heads }: ClockFacts): Judged {
  const findings: Finding[] = [];
  if ('unknown' in machineOffMs) {
    const message = `This machine could not be compared with the database: ${machineOffMs.unknown}.`;
    findings.push(unknown(message, 'Bring the database back, and ask again.'));
  } else {
    const off = clockRemark(machineOffMs.known);
    if (off !== undefined) findings.push(warning(off, TIME_SYNC));
  }
  for (const { name, aheadMs } of heads) {
    if (aheadMs <= HEAD_AHEAD_MS) continue;
    const clock = 'known' in machineOffMs ? 'the database' : 'this machine';
    const message = `The newest block of ${name} is ${spanText(aheadMs)} ahead of the clock of ${clock}: that clock is slow, or the endpoint lies.`;
    findings.push(
      warning(
        message,
        `Compare ${clock} with a time server. ${'known' in machineOffMs ? 'Expiries go by it.' : ''}`.trim(),
      ),
    );
  }
  const machine = 'unknown' in machineOffMs ? 'not known' : offText(machineOffMs.known);
  const facts = [
    { name: 'this machine', value: machine },
    ...heads.map(({ name, aheadMs }) => ({ name: `head of ${name}`, value: offText(aheadMs) })),
  ];
  return { facts, findings };
}

function offText(ms: number): string {
  return `${spanText(Math.abs(ms))} ${ms > 0 ? 'ahead' : 'behind'}`;
}

export function judgeNetworks(networks: readonly NetworkFacts[]): Judged {
  if (networks.length === 0) {
    const remedy = 'Set RPC_URLS, or start the gateway first: its sandbox brings a chain.';
    return { facts: [], findings: [remark('No network is configured, and no sandbox chain runs.', remedy)] };
  }
  return {
    facts: networks.flatMap((network) => {
      const best = highestOf(network);
      const { network: id, endpoints, readTo } = network;
      return [
        ...endpoints.map((endpoint) => ({
          name: `${id}, endpoint ${endpoint.endpoint}`,
          value: endpointText(endpoint, best),
        })),
        {
          name: `${id}, watcher`,
          value: readTo === null ? 'has read nothing, or it is not known' : `has read block ${readTo}`,
        },
      ];
    }),
    findings: networks.flatMap(judgeNetwork),
  };
}

function highestOf({ endpoints }: NetworkFacts): number {
  return Math.max(...endpoints.map(({ head }) => head ?? Number.NEGATIVE_INFINITY));
}

function endpointText({ isUp, head, headAgeMs, latencyMs }: EndpointFacts, best: number): string {
  if (!isUp || head === null) return 'down';
  const lag = best - head;
  return [
    `up, block ${head}`,
    headAgeMs === null ? [] : [`${spanText(Math.max(0, headAgeMs))} old`],
    lag === 0 ? [] : [`${countText(lag, 'block')} behind`],
    latencyMs === null ? [] : [`answers in ${latencyMs} ms`],
  ]
    .flat()
    .join(', ');
}

function judgeNetwork(network: NetworkFacts): Finding[] {
  const { endpoints, name } = network;
  const up = endpoints.filter(({ isUp }) => isUp);
  const findings = endpoints.flatMap((endpoint) => judgeEndpoint(network, endpoint, up.length));
  const youngest = Math.min(...up.map(({ headAgeMs }) => headAgeMs ?? 0));
  const isStale = youngest > Math.max(STALE_MS, STALE_BLOCKS * network.blockTimeMs);
  if (up.length > 0 && isStale && !network.isSandbox) {
    const message = `The newest block of ${name} is ${spanText(youngest)} old: the network stands still, its endpoints do not follow it, or the clock of the database is ahead.`;
    findings.push(
      warning(message, 'Compare the block with an explorer of the network, and the clock with a time server.'),
    );
  }
  const unread = highestOf(network) - (network.readTo ?? Number.POSITIVE_INFINITY);
  if (unread > Math.max(STALE_BLOCKS, STALE_MS / network.blockTimeMs)) {
    const message = `The watcher of ${name} is ${countText(unread, 'block')} behind: payments there succeed late.`;
    findings.push(
      warning(message, 'See that a node with the role `watch` runs, and read its log. It catches up by itself.'),
    );
  }
  return findings;
}

function judgeEndpoint(network: NetworkFacts, endpoint: EndpointFacts, upCount: number): Finding[] {
  const subject = `${network.name} (${network.network}), endpoint ${endpoint.endpoint}`;
  const remedy = 'Check its URL in RPC_URLS, its key and its limits. `till networks check` asks it again.';
  if (!endpoint.isUp) {
    const effect =
      upCount === 0
        ? 'Nothing can be paid there'
        : upCount < QUORUM
          ? `${QUORUM} endpoints must agree, so payments there wait, or go on at three times the depth`
          : 'The others are enough';
    const message = `${subject} is down: ${endpoint.problems.join('; ')}. ${effect}.`;
    return [(upCount === 0 ? fault : warning)(message, remedy)];
  }
  const findings = endpoint.problems.map((problem) =>
    warning(`${subject}: ${problem.replace(/\.$/, '')}.`, 'See docs/operating.md#alert-network_not_as_known.'),
  );
  const lag = highestOf(network) - (endpoint.head ?? 0);
  if (lag > Math.max(LAG_BLOCKS, LAG_MS / network.blockTimeMs)) {
    findings.push(warning(`${subject} is ${countText(lag, 'block')} behind the others, so it is not asked.`, remedy));
  }
  if (endpoint.latencyMs !== null && endpoint.latencyMs > SLOW_ANSWER_MS) {
    const message = `${subject} answers after ${endpoint.latencyMs} ms.`;
    findings.push(warning(message, 'Use an endpoint that is nearer, or a faster plan of the provider.'));
  }
  return findings;
}

export function judgeAccounts(accounts: readonly AccountFacts[]): Judged {
  return {
    facts: accounts.map(({ network, address, kind, balance, inFlight }) => ({
      name: `${kind} ${network}:${address}`,
      value: `${balance === null ? 'balance not known' : `${coinText(balance)} coin`}${inFlight === null ? '' : `, ${countText(inFlight, 'transaction')} in flight`}`,
    })),
    findings: accounts.flatMap(judgeAccount),
  };
}

function judgeAccount({ network, address, kind, balance, minBalance, spentPerDay }: AccountFacts): Finding[] {
  const subject = `The ${kind} ${network}:${address}`;
  if (balance === null) {
    return [
      unknown(
        `${subject}: its balance is not known, because the chain cannot be asked.`,
        'Look at the endpoints of the network.',
      ),
    ];
  }
  if (kind !== 'relayer') return [];
  const remedy = 'Send native coin to it.';
  if (balance === 0n) return [fault(`${subject} has no coin, so it sends nothing.`, remedy)];
  if (minBalance !== null && balance < minBalance) {
    return [
      warning(
        `${subject} has ${coinText(balance)} coin, less than RELAYER_MIN_BALANCE (${coinText(minBalance)}).`,
        remedy,
      ),
    ];
  }
  if (spentPerDay > 0n && balance / spentPerDay < FEW_DAYS) {
    return [
      warning(
        `${subject} has coin for ${balance / spentPerDay} days: ${coinText(balance)}, of which it spent ${coinText(spentPerDay)} within a day.`,
        remedy,
      ),
    ];
  }
  return [];
}

function coinText(units: bigint): string {
  return formatDecimal({ units, decimals: COIN_DECIMALS });
}

export function judgeDisk(disks: readonly DiskFacts[]): Judged {
  return {
    facts: disks.map(({ what, space }) => ({
      name: what,
      value:
        'unknown' in space
          ? 'not visible from here'
          : `${bytesText(space.known.freeBytes)} of ${bytesText(space.known.totalBytes)} free`,
    })),
    findings: disks.flatMap(({ what, space }): Finding[] => {
      if ('unknown' in space) {
        const message = `The disk of ${what} cannot be seen from here: ${space.unknown}.`;
        return [remark(message, 'Watch its free space on that machine.')];
      }
      const { freeBytes, totalBytes } = space.known;
      const share = freeBytes / totalBytes;
      const isLow = freeBytes < LOW_BYTES || (share < LOW_SHARE && freeBytes < PLENTY_BYTES);
      if (!isLow) return [];
      const message = `The disk of ${what} has ${bytesText(freeBytes)} of ${bytesText(totalBytes)} left.`;
      const isFull = freeBytes < FULL_BYTES;
      return [
        (isFull ? fault : warning)(message, 'Free space, or make the disk larger: a full disk stops all payments.'),
      ];
    }),
  };
}

export function judgeCertificates(certificates: readonly CertificateFacts[]): Judged {
  return {
    facts: certificates.map(({ what, certificate }) => ({
      name: what,
      value:
        'unknown' in certificate
          ? 'not known'
          : `ends at ${isoText(certificate.known.until.getTime())}, issued by ${certificate.known.issuer}`,
    })),
    findings: certificates.flatMap(judgeCertificate),
  };
}

function judgeCertificate({ what, certificate, nowMs }: CertificateFacts): Finding[] {
  if ('unknown' in certificate) {
    const remedy = 'See that the address leads to a server with TLS, and that this machine reaches it.';
    return [unknown(`The certificate of ${what} could not be read: ${certificate.unknown}.`, remedy)];
  }
  const { from, until, refusal } = certificate.known;
  const leftMs = until.getTime() - nowMs;
  const renew = 'Renew it, and load it where TLS ends.';
  if (leftMs <= 0) return [fault(`The certificate of ${what} expired at ${isoText(until.getTime())}.`, renew)];
  if (from.getTime() > nowMs) {
    const message = `The certificate of ${what} is valid only from ${isoText(from.getTime())} on.`;
    return [fault(message, 'Compare the clock of this machine with a time server, or use another certificate.')];
  }
  const findings: Finding[] = [];
  if (leftMs < CERTIFICATE_WARN_MS) {
    const message = `The certificate of ${what} ends in ${spanText(leftMs)}, at ${isoText(until.getTime())}.`;
    findings.push((leftMs < CERTIFICATE_FAULT_MS ? fault : warning)(message, renew));
  }
  if (refusal !== null) {
    const message = `Clients refuse the certificate of ${what}: ${refusal}.`;
    findings.push(fault(message, 'Use a certificate of a known authority, for this name, with its whole chain.'));
  }
  return findings;
}
