/*
 * here_names.h - put before all else, gives the functions of this machine's limiters other names: in
 * a store's program, those of flocklimit.h are the store's.
 */
#ifndef HERE_NAMES_H
#define HERE_NAMES_H

#define flk_admit         here_flk_admit
#define flk_attach        here_flk_attach
#define flk_cancel        here_flk_cancel
#define flk_check         here_flk_check
#define flk_declared      here_flk_declared
#define flk_detach        here_flk_detach
#define flk_discard       here_flk_discard
#define flk_ended         here_flk_ended
#define flk_enqueue       here_flk_enqueue
#define flk_entrust       here_flk_entrust
#define flk_evict         here_flk_evict
#define flk_evictor       here_flk_evictor
#define flk_follow        here_flk_follow
#define flk_forget        here_flk_forget
#define flk_guard         here_flk_guard
#define flk_guard_by      here_flk_guard_by
#define flk_guard_open    here_flk_guard_open
#define flk_heirs         here_flk_heirs
#define flk_history       here_flk_history
#define flk_holds         here_flk_holds
#define flk_identity      here_flk_identity
#define flk_interrupt     here_flk_interrupt
#define flk_is_taker      here_flk_is_taker
#define flk_leave         here_flk_leave
#define flk_limiter       here_flk_limiter
#define flk_locate        here_flk_locate
#define flk_order         here_flk_order
#define flk_orders        here_flk_orders
#define flk_override      here_flk_override
#define flk_pace          here_flk_pace
#define flk_path          here_flk_path
#define flk_pause         here_flk_pause
#define flk_permit        here_flk_permit
#define flk_place         here_flk_place
#define flk_refuse        here_flk_refuse
#define flk_release       here_flk_release
#define flk_release_units here_flk_release_units
#define flk_remove        here_flk_remove
#define flk_remove_unused here_flk_remove_unused
#define flk_repair        here_flk_repair
#define flk_restore       here_flk_restore
#define flk_resume        here_flk_resume
#define flk_set_limit     here_flk_set_limit
#define flk_set_pace      here_flk_set_pace
#define flk_slot          here_flk_slot
#define flk_snapshot      here_flk_snapshot
#define flk_strerror      here_flk_strerror
#define flk_stuck_pid     here_flk_stuck_pid
#define flk_taker_free    here_flk_taker_free
#define flk_taker_new     here_flk_taker_new
#define flk_try           here_flk_try
#define flk_verify        here_flk_verify
#define flk_wait          here_flk_wait
#define flk_wait_idle     here_flk_wait_idle
#define flk_working       here_flk_working
#define flk_working_child here_flk_working_child
#define flki_put          here_flki_put
#define flki_queue        here_flki_queue
#define flki_share        here_flki_share

#endif
