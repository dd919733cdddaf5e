import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Navigate,
  Outlet,
} from '@tanstack/react-router';
import { readFilters, readStatus } from './filters.ts';
import { PAYOUT_STATUSES, REFUND_STATUSES } from './shapes.ts';
import { JoinPage } from './ui/join.tsx';
import { NotFound } from './ui/not-found.tsx';
import { usePagesSeen } from './ui/pages.ts';
import { Shell } from './ui/shell.tsx';
import { SignInPage } from './ui/sign-in.tsx';

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound });
const join = createRoute({ getParentRoute: () => root, path: '/join', component: JoinPage });
const signIn = createRoute({ getParentRoute: () => root, path: '/sign-in', component: SignInPage });
const shell = createRoute({ getParentRoute: () => root, id: 'shell', component: Shell });
const HomePage = lazyRouteComponent(() => import('./pages/home.tsx'), 'HomePage');
const home = createRoute({ getParentRoute: () => shell, path: '/', component: FirstPage });
const payments = createRoute({
  getParentRoute: () => shell,
  path: '/payments',
  validateSearch: readFilters,
  component: lazyRouteComponent(() => import('./pages/payments.tsx'), 'PaymentsPage'),
});
const payment = createRoute({
  getParentRoute: () => shell,
  path: '/payments/$merchantId/$paymentId',
  component: lazyRouteComponent(() => import('./pages/payment.tsx'), 'PaymentPage'),
});
const merchants = createRoute({
  getParentRoute: () => shell,
  path: '/merchants',
  component: lazyRouteComponent(() => import('./pages/merchants.tsx'), 'MerchantsPage'),
});
const merchant = createRoute({
  getParentRoute: () => shell,
  path: '/merchants/$merchantId',
  component: lazyRouteComponent(() => import('./pages/merchant.tsx'), 'MerchantPage'),
});
const webhooks = createRoute({
  getParentRoute: () => shell,
  path: '/webhooks',
  component: lazyRouteComponent(() => import('./pages/webhooks.tsx'), 'WebhooksPage'),
});
const webhook = createRoute({
  getParentRoute: () => shell,
  path: '/webhooks/$endpointId',
  component: lazyRouteComponent(() => import('./pages/webhook.tsx'), 'WebhookPage'),
});
const keys = createRoute({
  getParentRoute: () => shell,
  path: '/developers',
  component: lazyRouteComponent(() => import('./pages/keys.tsx'), 'KeysPage'),
});
const events = createRoute({
  getParentRoute: () => shell,
  path: '/developers/events',
  component: lazyRouteComponent(() => import('./pages/events.tsx'), 'EventsPage'),
});
const requests = createRoute({
  getParentRoute: () => shell,
  path: '/developers/requests',
  component: lazyRouteComponent(() => import('./pages/requests.tsx'), 'RequestsPage'),
});
const refunds = createRoute({
  getParentRoute: () => shell,
  path: '/refunds',
  validateSearch: (search) => readStatus(search, REFUND_STATUSES),
  component: lazyRouteComponent(() => import('./pages/refunds.tsx'), 'RefundsPage'),
});
const payouts = createRoute({
  getParentRoute: () => shell,
  path: '/payouts',
  validateSearch: (search) => readStatus(search, PAYOUT_STATUSES),
  component: lazyRouteComponent(() => import('./pages/payouts.tsx'), 'PayoutsPage'),
});
const operator = createRoute({
  getParentRoute: () => shell,
  path: '/operator',
  component: lazyRouteComponent(() => import('./pages/operator.tsx'), 'OperatorPage'),
});
const team = createRoute({
  getParentRoute: () => shell,
  path: '/team',
  component: lazyRouteComponent(() => import('./pages/team.tsx'), 'TeamPage'),
});
const auditLog = createRoute({
  getParentRoute: () => shell,
  path: '/team/audit-log',
  component: lazyRouteComponent(() => import('./pages/audit-log.tsx'), 'AuditLogPage'),
});
const account = createRoute({
  getParentRoute: () => shell,
  path: '/account',
  component: lazyRouteComponent(() => import('./pages/account.tsx'), 'AccountPage'),
});

const routeTree = root.addChildren([
  join,
  signIn,
  shell.addChildren([
    home,
    payments,
    payment,
    merchants,
    merchant,
    webhooks,
    webhook,
    team,
    auditLog,
    account,
    keys,
    events,
    requests,
    refunds,
    payouts,
    operator,
  ]),
]);

function FirstPage() {
  const [first] = usePagesSeen();
  if (first?.to === '/') return <HomePage />;
  return <Navigate to={first?.to ?? '/account'} replace />;
}

export function makeRouter() {
  return createRouter({
    routeTree,
    basepath: '/dashboard',
    defaultPreload: 'intent',
    scrollRestoration: true,
    // Plain text, as people write addresses: no JSON in them.
    parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
    stringifySearch: (search) => {
      const given = Object.entries(search).filter(([, value]) => typeof value === 'string' && value !== '');
      return given.length === 0 ? '' : `?${new URLSearchParams(given as [string, string][])}`;
    },
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof makeRouter>;
  }
}
