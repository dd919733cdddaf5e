import { type Finding, warning } from '../../domain/doctor/diagnosis.ts';
import { lineOf } from './ask-all.ts';

/** The database rows that a first payment needs: the number of each kind, and the ids of the partners. */
export interface Present {
  readonly operators: number;
  readonly partners: readonly string[];
  readonly keys: number;
  readonly merchants: number;
  readonly nodes: number;
}

export interface MissingInput {
  /** The findings of the live checks and of the steps that failed. */
  readonly findings: readonly Finding[];
  /** Reasons for which a node would not start. */
  readonly refusals: readonly Finding[];
  readonly present: Present | undefined;
  readonly isLive: boolean;
}

/** Everything that is missing before the first payment, in the order in which to do it. One line each. */
export function missingLines({ findings, refusals, present, isLive }: MissingInput): string[] {
  const mode = isLive ? 'live' : 'test';
  const { operators, partners, keys, merchants, nodes } = present ?? NOTHING_KNOWN;
  const steps: readonly (readonly [isMissing: boolean, message: string, remedy: string])[] = [
    [
      operators === 0,
      'No operator can sign in.',
      'Run `till people invite --operator --role owner --name … --email …`.',
    ],
    [partners.length === 0, 'There is no partner.', 'Run `till partners create --name …`.'],
    [
      keys === 0,
      'No partner has an API key.',
      `Run \`till keys create --partner ${partners[0] ?? '…'} --mode ${mode} --label …\`.`,
    ],
    [nodes === 0, 'No node runs.', 'Run `npm start` in this folder, or the unit of docs/operating.md.'],
    [
      merchants === 0,
      'There is no merchant.',
      'Create one with the key (`POST /v1/merchants`), and its settlement destinations: docs/partners.md.',
    ],
  ];
  const open = steps.filter(([isMissing]) => isMissing).map(([, message, remedy]) => warning(message, remedy));
  // Duplicate lines are removed: a check may have the same finding for several networks.
  return [...new Set([...refusals, ...findings, ...open].map(lineOf))];
}

const NOTHING_KNOWN: Present = { operators: 1, partners: ['…'], keys: 1, merchants: 1, nodes: 0 };
