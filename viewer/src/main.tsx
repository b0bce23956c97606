/* The page: opens the source of answers, and lets each part follow the state. */
import 'uplot/dist/uPlot.min.css';
import './style.css';
import { openSource } from './engine/open.ts';
import { begin, followRequests } from './state/asking.ts';
import { followAddress, followLimits, followTheme } from './state/store.ts';
import { followDetails } from './views/details.tsx';
import { followFlame } from './views/flame.tsx';
import { followHeader } from './views/header.tsx';
import { followHeap } from './views/heap.tsx';
import { followKeys } from './views/keys.ts';
import { followKinds } from './views/kinds.tsx';
import { followOverlay } from './views/overlay.tsx';
import { followPopulation, followTabs } from './views/tabs.tsx';
import { followQuery } from './views/query.tsx';
import { followTable } from './views/table.tsx';
import { followTime } from './views/time.tsx';

followTheme();
followAddress(window);
followLimits();
followHeader();
followTime();
followTabs();
followQuery();
followPopulation();
followFlame();
followTable();
followDetails();
followHeap();
followKinds();
followOverlay();
followKeys();
followRequests();
void begin(openSource());
/* SPDX-License-Identifier: MIT */
