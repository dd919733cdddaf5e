import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Navigate,
  Outlet,
} from '@tanstack/react-router';
import { readFilters } from './filters.ts';
import { JoinPage } from './ui/join.tsx';
import { NotFound } from './ui/not-found.tsx';
import { Shell } from './ui/shell.tsx';
import { SignInPage } from './ui/sign-in.tsx';

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound });
const join = createRoute({ getParentRoute: () => root, path: '/join', component: JoinPage });
const signIn = createRoute({ getParentRoute: () => root, path: '/sign-in', component: SignInPage });
const shell = createRoute({ getParentRoute: () => root, id: 'shell', component: Shell });
const home = createRoute({
  getParentRoute: () => shell,
  path: '/',
  component: () => <Navigate to="/payments" replace />,
});
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
const links = createRoute({
  getParentRoute: () => shell,
  path: '/links',
  component: lazyRouteComponent(() => import('./pages/links.tsx'), 'LinksPage'),
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
  shell.addChildren([home, payments, payment, links, merchants, merchant, webhooks, webhook, team, auditLog, account]),
]);

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
