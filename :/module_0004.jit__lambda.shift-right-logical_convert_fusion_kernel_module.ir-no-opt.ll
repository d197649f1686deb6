; ModuleID = '__compute_module_shift-right-logical_convert_fusion_kernel_module'
source_filename = "__compute_module_shift-right-logical_convert_fusion_kernel_module"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

%XLA_CPU_KernelCallFrame = type { ptr, ptr, i64, ptr }
%XLA_CPU_KernelArg = type { ptr, i64 }
%kernel_dim3 = type { i64, i64, i64 }

; Function Attrs: uwtable
define ptr @shift-right-logical_convert_fusion(ptr %0) #0 {
  %2 = getelementptr inbounds %XLA_CPU_KernelCallFrame, ptr %0, i32 0, i32 3
  %3 = load ptr, ptr %2, align 8, !invariant.load !3
  %4 = getelementptr inbounds %XLA_CPU_KernelArg, ptr %3, i32 0, i32 0
  %5 = load ptr, ptr %4, align 8, !invariant.load !3, !dereferenceable !4
  %6 = getelementptr inbounds %XLA_CPU_KernelCallFrame, ptr %0, i32 0, i32 1
  %7 = load ptr, ptr %6, align 8
  %8 = getelementptr inbounds %kernel_dim3, ptr %7, i32 0, i32 0
  %9 = load i64, ptr %8, align 4, !invariant.load !3
  %10 = getelementptr inbounds %kernel_dim3, ptr %7, i32 0, i32 1
  %11 = load i64, ptr %10, align 4, !invariant.load !3
  %12 = getelementptr inbounds %kernel_dim3, ptr %7, i32 0, i32 2
  %13 = load i64, ptr %12, align 4, !invariant.load !3
  call void @shift-right-logical_convert_fusion_wrapped(ptr %5, i64 %9, i64 %11, i64 %13)
  ret ptr null
}

; Function Attrs: alwaysinline
define internal void @shift-right-logical_convert_fusion_wrapped(ptr noalias align 64 dereferenceable(256) %0, i64 %1, i64 %2, i64 %3) #1 {
  br label %5

5:                                                ; preds = %21, %4
  %6 = phi i64 [ %22, %21 ], [ 0, %4 ]
  %7 = icmp slt i64 %6, 8
  br i1 %7, label %8, label %23

8:                                                ; preds = %5
  %9 = mul i64 %6, 8
  %10 = mul nsw i64 %6, 8
  br label %11

11:                                               ; preds = %14, %8
  %12 = phi i64 [ %20, %14 ], [ 0, %8 ]
  %13 = icmp slt i64 %12, 8
  br i1 %13, label %14, label %21

14:                                               ; preds = %11
  %15 = add i64 %9, %12
  %16 = lshr i64 %15, 32
  %17 = trunc i64 %16 to i32
  %18 = add nsw i64 %10, %12
  %19 = getelementptr inbounds [64 x i32], ptr %0, i32 0, i64 %18
  store i32 %17, ptr %19, align 4
  %20 = add i64 %12, 1
  br label %11

21:                                               ; preds = %11
  %22 = add i64 %6, 1
  br label %5, !llvm.loop !5

23:                                               ; preds = %5
  ret void
}

attributes #0 = { uwtable "frame-pointer"="all" "prefer-vector-width"="256" }
attributes #1 = { alwaysinline }

!llvm.module.flags = !{!0, !1}
!xla_cpu_memory_region_name = !{!2}

!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = !{i32 1, !"xla_dylib_index", i64 4}
!2 = !{!"xla_cpu_emitter__loop_fusion_kernel_emitter__hlo_opcode__fusion"}
!3 = !{}
!4 = !{i64 256}
!5 = distinct !{!5, !6}
!6 = !{!"llvm.loop.unroll.disable"}
