import { after } from 'node:test';
import './paying.suite.ts';
import './refunding.suite.ts';
import './sending.suite.ts';
import './wallets.suite.ts';
import './truth.suite.ts';
import './late-sending.suite.ts';
import { closeSharedScene } from './scene.ts';

after(closeSharedScene);
