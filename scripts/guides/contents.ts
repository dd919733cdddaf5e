/** A part of the guides, for one kind of reader. */
export interface Chapter {
  readonly title: string;
  /** One sentence for the front page and `llms.txt`. */
  readonly about: string;
  /** Paths in the repository, in reading order. */
  readonly pages: readonly string[];
}

/** The pages of the guides, ordered by reader. A test compares them with the files of `docs/`. */
export const CONTENTS: readonly Chapter[] = [
  {
    title: 'Start',
    about: 'The gateway on your laptop, and the first payment, in a minute.',
    pages: ['docs/start.md', 'README.md', 'docs/sandbox.md', 'CHANGELOG.md'],
  },
  {
    title: 'Concepts',
    about: 'The life of a payment, and the place of the money at each moment, with pictures.',
    pages: ['docs/concepts.md', 'docs/finality.md', 'docs/fees-and-settlement.md', 'docs/deposit-addresses.md'],
  },
  {
    title: 'Shops and partners',
    about: 'Taking payments from a program in JavaScript, Python, PHP or by curl, and from no program at all.',
    pages: [
      'docs/partners.md',
      'docs/clients.md',
      'sdk/README.md',
      'docs/webhooks.md',
      'docs/refunds.md',
      'docs/accepted-assets.md',
      'docs/payment-links.md',
      'docs/point-of-sale.md',
      'docs/receipts.md',
      'docs/branding.md',
      'docs/dashboard.md',
    ],
  },
  {
    title: 'Wallets and programs that pay',
    about: 'Paying through Till from a wallet, or from a program by x402.',
    pages: ['docs/wallets.md', 'docs/x402.md'],
  },
  {
    title: 'Operators',
    about: 'Setting Till up, running it, and what to do at each alert.',
    pages: [
      'docs/operating.md',
      'docs/deploying.md',
      'docs/own-networks.md',
      'docs/rates-and-screening.md',
      'docs/reliability.md',
      'docs/scale.md',
      'docs/drills.md',
      'docs/payer-data.md',
    ],
  },
  {
    title: 'Security',
    about: 'Threats and defences, secrets, rights, and how to report a weakness.',
    pages: [
      'docs/security.md',
      'docs/secrets.md',
      'docs/external-signer.md',
      'docs/authorisation.md',
      'docs/tokens.md',
      'SECURITY.md',
    ],
  },
  {
    title: 'Books',
    about: 'Double-entry books of all money, compared with the chain.',
    pages: ['docs/books.md', 'docs/money-faults.md'],
  },
  {
    title: 'Reference',
    about: 'Generated from the source: errors, events, settings, commands, metrics, alerts, networks.',
    pages: [
      'docs/errors.md',
      'docs/events.md',
      'docs/configuration.md',
      'docs/commands.md',
      'docs/metrics.md',
      'docs/log.md',
      'docs/networks.md',
      'docs/conformance.md',
    ],
  },
  {
    title: 'Developers of Till',
    about: 'The shape of the program, its tests and its measurements.',
    pages: [
      'ARCHITECTURE.md',
      'CONTRIBUTING.md',
      'docs/rooms.md',
      'docs/simulation.md',
      'docs/benchmarks.md',
      'docs/contracts-mutants.md',
      'docs/domain-mutants.md',
    ],
  },
];

/** Every file of this folder is a page, in the order of their numbers. */
export const DECISIONS = 'docs/decisions/';
